"""Kernels for Warp: vectors and matrices, quaternions, tiles, adjoints, hash grids, noise, textures of meshes."""

import warp as wp


@wp.kernel
def integrate(
    x: wp.array(dtype=wp.vec3),
    v: wp.array(dtype=wp.vec3),
    f: wp.array(dtype=wp.vec3),
    w: wp.array(dtype=float),
    g: wp.vec3,
    dt: float,
):
    i = wp.tid()
    a = v[i] + (f[i] * w[i] + g * wp.step(0.0 - w[i])) * dt
    x[i] = x[i] + a * dt
    v[i] = a


@wp.struct
class Body:
    position: wp.vec3
    rotation: wp.quat
    inertia: wp.mat33
    flags: wp.int32


@wp.func
def spin(q: wp.quat, w: wp.vec3, dt: float):
    return wp.normalize(q + wp.quat(w, 0.0) * q * 0.5 * dt)


@wp.kernel
def rigid(bodies: wp.array(dtype=Body), twists: wp.array(dtype=wp.spatial_vector), dt: float):
    i = wp.tid()
    b = bodies[i]
    w = wp.spatial_top(twists[i])
    b.rotation = spin(b.rotation, wp.inverse(b.inertia) * w, dt)
    b.position = b.position + wp.quat_rotate(b.rotation, wp.spatial_bottom(twists[i])) * dt
    if b.flags > 3:
        b.flags = 0
    bodies[i] = b


@wp.kernel(enable_backward=False)
def stencil(u: wp.array2d(dtype=wp.float64), o: wp.array2d(dtype=wp.float64), k: wp.float64):
    i, j = wp.tid()
    if i > 0 and j > 0 and i < u.shape[0] - 1 and j < u.shape[1] - 1:
        o[i, j] = u[i, j] + k * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - wp.float64(4.0) * u[i, j])


@wp.kernel
def noise(o: wp.array(dtype=float), seed: int):
    i = wp.tid()
    s = wp.rand_init(seed, i)
    p = wp.vec3(wp.randf(s), wp.randn(s), float(i))
    o[i] = wp.noise(s, p) + wp.sin(p[0]) * wp.exp(p[1]) + wp.atan2(p[2], p[0])


@wp.kernel
def counting(x: wp.array(dtype=int), o: wp.array(dtype=int), m: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(o, x[i] % 16, 1)
    wp.atomic_max(m, 0, float(x[i]))
    wp.atomic_min(o, 20, x[i])
    n = int(0)  # noqa: RUF046, UP018
    while n < x[i]:
        n = n * 2 + 1
        if n > 100:
            break
    o[i] = n + wp.min(x[i], 7) + (x[i] >> 2)


@wp.kernel
def queries(mesh: wp.uint64, grid: wp.uint64, p: wp.array(dtype=wp.vec3), o: wp.array(dtype=float)):
    i = wp.tid()
    q = wp.mesh_query_point(mesh, p[i], 1.0)
    if q.result:
        o[i] = q.sign * wp.length(p[i] - wp.mesh_eval_position(mesh, q.face, q.u, q.v))
    for j in wp.hash_grid_query(grid, p[i], 0.5):
        o[i] = o[i] + wp.length(p[i] - p[j])
