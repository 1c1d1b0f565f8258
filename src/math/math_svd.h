/// Signed singular value decomposition and rotation of 3 x 3 matrices, scalar and SN_LANES wide.
///
/// Convention: F = U diag(s) V', U and V rotations (det +1), s[0] >= s[1] >= |s[2]|, sign(s[2]) = sign(det
/// F); R = U V' is the rotation that maximizes tr(R'F).
///
/// Every F with finite entries below 1e150 will do: flat, collapsed (F = 0), inverted, denormal; where U, V
/// or R is not unique, one of them. Errors are below 1e-14, relative to |F| for s and for U diag(s) V' - F,
/// absolute for the orthogonality of U, V and R; R is off by at most about 1e-15 |F| / (s[1] + s[2]). NaN or
/// infinity in F gives NaN in s. A result is a function of its own F alone, with the same bits in every lane
/// and in the scalar form.
///
/// Wide data is structure of arrays: F[entry][lane], entry = 3 * row + column. Outputs may not overlap
/// inputs.
#ifndef SN_MATH_SVD_H
#define SN_MATH_SVD_H

/// Elements that a kernel treats together: two AVX-512 registers of floats, four of doubles, so that one
/// register's arithmetic fills the time in which another's waits for its results.
enum { SN_LANES = 32 };

void sn_svd3(const double F[9], double U[9], double s[3], double V[9]);
void sn_svd3_wide(const double F[9][SN_LANES], double U[9][SN_LANES], double s[3][SN_LANES],
                  double V[9][SN_LANES]);

/// F = U A V' with rotations U and V, to rounding of doubles, found by floats: A is diagonal only to rounding
/// of those (its other entries are below 1e-5 |F|, usually 1e-7) and its diagonal is ordered only as well as
/// that. Half the cost of sn_svd3_wide(); what is left can be corrected for to first order in A's other
/// entries and then has errors below 1e-12 (material_near.c).
void sn_svd3_near_wide(const double F[9][SN_LANES], double U[9][SN_LANES], double A[9][SN_LANES],
                       double V[9][SN_LANES]);

/// Rotation R = U V' only.
void sn_rotation3(const double F[9], double R[9]);
void sn_rotation3_wide(const double F[9][SN_LANES], double R[9][SN_LANES]);

/// Nearest point to `s` (signed singular values, ordered as above, below 1e150) with product 1 and all
/// entries positive: the global minimizer of |p - s|^2; where several points are nearest, one of them. U
/// diag(p) V' is then the nearest matrix of determinant 1. p is accurate to rounding, except where two
/// candidates nearly meet (their distance to s still is). Safe for flat, collapsed and inverted s.
/// Derivation: math_project.c.
void sn_nearest_unit_product3(const double s[3], double p[3]);
void sn_nearest_unit_product3_wide(const double s[3][SN_LANES], double p[3][SN_LANES]);

/// The same, with most of the work in float, for 1e-4 < s[0] < 1e4, s[0] s[1] s[2] < 2 and s[1] + s[2] well
/// above 0; other lanes get something. `s` need be ordered to rounding of floats only. p is accurate to about
/// 1e-13.
void sn_nearest_unit_product3_near_wide(const double s[3][SN_LANES], double p[3][SN_LANES]);

#endif
