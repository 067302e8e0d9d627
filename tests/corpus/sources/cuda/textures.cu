// Texture and surface objects: fetches of every geometry, level, gradient, gather, sparse; reads and writes of surfaces.
// corpus: sm_75
// corpus: sm_90 -lineinfo
// corpus: sm_80 -DSURFACES
// corpus: sm_120 -DSURFACES -G
#ifndef SURFACES
template <class T>
__global__ void fetch(T* o, cudaTextureObject_t t, float x, float y, float z, float l, int i) {
  int n = 0;
  o[n++] = tex1Dfetch<T>(t, i);
  o[n++] = tex1D<T>(t, x);
  o[n++] = tex2D<T>(t, x, y);
  o[n++] = tex3D<T>(t, x, y, z);
  o[n++] = tex1DLayered<T>(t, x, i);
  o[n++] = tex2DLayered<T>(t, x, y, i);
  o[n++] = texCubemap<T>(t, x, y, z);
  o[n++] = texCubemapLayered<T>(t, x, y, z, i);
  o[n++] = tex1DLod<T>(t, x, l);
  o[n++] = tex2DLod<T>(t, x, y, l);
  o[n++] = tex3DLod<T>(t, x, y, z, l);
  o[n++] = tex2DLayeredLod<T>(t, x, y, i, l);
  o[n++] = texCubemapLod<T>(t, x, y, z, l);
  float2 d2 = make_float2(l, x);
  float4 d4 = make_float4(x, y, z, l);
  o[n++] = tex1DGrad<T>(t, x, y, z);
  o[n++] = tex2DGrad<T>(t, x, y, d2, d2);
  o[n++] = tex3DGrad<T>(t, x, y, z, d4, d4);
  o[n++] = tex2DLayeredGrad<T>(t, x, y, i, d2, d2);
  o[n++] = texCubemapGrad<T>(t, x, y, z, d4, d4);
}
template __global__ void fetch(float4*, cudaTextureObject_t, float, float, float, float, int);
template __global__ void fetch(int*, cudaTextureObject_t, float, float, float, float, int);
template __global__ void fetch(uint2*, cudaTextureObject_t, float, float, float, float, int);
template __global__ void fetch(unsigned char*, cudaTextureObject_t, float, float, float, float, int);
__global__ void gather(float4* o, cudaTextureObject_t t, float x, float y) {
  bool r;
  o[0] = tex2Dgather<float4>(t, x, y, 0);
  o[1] = tex2Dgather<float4>(t, x, y, 1);
  o[2] = tex2Dgather<float4>(t, x, y, 2);
  o[3] = tex2Dgather<float4>(t, x, y, 3);
  o[4] = tex2D<float4>(t, x, y, &r);
  o[5].x = r;
  o[6] = tex3DLod<float4>(t, x, y, x, y, &r);
  o[7].x = r;
}
#else
template <class T>
__global__ void surfaces(T* o, cudaSurfaceObject_t s, int x, int y, int z, int l) {
  int n = 0;
  const int b = sizeof(T);
  o[n++] = surf1Dread<T>(s, x * b);
  o[n++] = surf2Dread<T>(s, x * b, y);
  o[n++] = surf3Dread<T>(s, x * b, y, z);
  o[n++] = surf1DLayeredread<T>(s, x * b, l);
  o[n++] = surf2DLayeredread<T>(s, x * b, y, l);
  o[n++] = surfCubemapread<T>(s, x * b, y, z);
  o[n++] = surfCubemapLayeredread<T>(s, x * b, y, l);
  o[n++] = surf2Dread<T>(s, x * b, y, cudaBoundaryModeClamp);
  o[n++] = surf2Dread<T>(s, x * b, y, cudaBoundaryModeZero);
  surf1Dwrite(o[0], s, x * b);
  surf2Dwrite(o[1], s, x * b, y);
  surf3Dwrite(o[2], s, x * b, y, z);
  surf1DLayeredwrite(o[3], s, x * b, l);
  surf2DLayeredwrite(o[4], s, x * b, y, l);
  surf2Dwrite(o[5], s, x * b, y, cudaBoundaryModeClamp);
  surf3Dwrite(o[6], s, x * b, y, z, cudaBoundaryModeZero);
  surfCubemapwrite(o[7], s, x * b, y, z);
}
template __global__ void surfaces(float*, cudaSurfaceObject_t, int, int, int, int);
template __global__ void surfaces(uchar4*, cudaSurfaceObject_t, int, int, int, int);
template __global__ void surfaces(short2*, cudaSurfaceObject_t, int, int, int, int);
template __global__ void surfaces(float4*, cudaSurfaceObject_t, int, int, int, int);
template __global__ void surfaces(unsigned char*, cudaSurfaceObject_t, int, int, int, int);
template __global__ void surfaces(longlong2*, cudaSurfaceObject_t, int, int, int, int);
#endif
