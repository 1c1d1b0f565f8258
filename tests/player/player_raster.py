"""A small rasterizer: what a picture of triangles should cover, written apart from the player."""

import numpy as np


class Raster:
    """Triangles seen through a camera: nearest triangle and its weights at each pixel center."""

    def __init__(self, positions, triangles, matrix, width, height):
        """matrix [4, 4] takes positions to clip space."""
        self.width, self.height, self.triangles = width, height, triangles
        clip = np.hstack([positions, np.ones((len(positions), 1))]) @ matrix.T
        self.w = clip[:, 3]
        device = clip[:, :3] / self.w[:, None]
        self.pixel = np.column_stack([(device[:, 0] + 1) / 2 * width, (1 - device[:, 1]) / 2 * height, device[:, 2]])
        self.depth = np.full((height, width), np.inf)
        self.triangle = np.full((height, width), -1)
        for index in range(len(triangles)):
            self._draw(index)

    def _weights(self, index, x, y):
        """Weights of the corners at a place of the picture, linear in the picture; None where flat."""
        a, b, c = self.pixel[self.triangles[index], :2]
        area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        if area == 0:
            return None
        wb = ((x - a[0]) * (c[1] - a[1]) - (y - a[1]) * (c[0] - a[0])) / area
        wc = ((b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])) / area
        return 1 - wb - wc, wb, wc

    def _draw(self, index):
        corners = self.pixel[self.triangles[index]]
        low = np.maximum(np.ceil(corners[:, :2].min(axis=0) - 0.5), 0).astype(int)
        high = np.minimum(np.floor(corners[:, :2].max(axis=0) - 0.5) + 1, [self.width, self.height]).astype(int)
        if (low >= high).any():
            return
        x, y = np.meshgrid(np.arange(low[0], high[0]) + 0.5, np.arange(low[1], high[1]) + 0.5)
        weights = self._weights(index, x, y)
        if weights is None:
            return
        depth = sum(weight * corner for weight, corner in zip(weights, corners[:, 2]))
        place = (slice(low[1], high[1]), slice(low[0], high[0]))
        nearer = (np.minimum.reduce(weights) >= 0) & (depth < self.depth[place])
        self.depth[place] = np.where(nearer, depth, self.depth[place])
        self.triangle[place] = np.where(nearer, index, self.triangle[place])

    def covered(self):
        return self.triangle >= 0

    def value(self, values, column, row):
        """A field of the vertices at a covered pixel's center, interpolated on the triangle in space."""
        index = self.triangle[row, column]
        corners = self.triangles[index]
        weights = np.array(self._weights(index, column + 0.5, row + 0.5)) / self.w[corners]
        return float(weights @ values[corners] / weights.sum())
