"""ImageLocality: nodes that hold the pod's images already score higher; an image that few nodes hold counts less.

Rule: kube-scheduler ImageLocality: each image counts with its size times the share of all nodes that hold it;
the sum is cut to 23 MiB .. 1000 MiB per container and scaled to 0..100. Image volumes add to the sum
since v1.36, and count as containers since v1.37.
"""

from collections.abc import Hashable
from typing import Final

import numpy as np

from kubesched.api import Pod
from kubesched.engine import BoolVector, IntVector
from kubesched.framework import CycleState, DependsOn, Plugin, Stamped
from kubesched.state import ImageState, Nodes, Rows

_MIB: Final = 1024 * 1024
_LOWEST: Final = 23 * _MIB
_HIGHEST_PER_CONTAINER: Final = 1000 * _MIB
_MAX_SCORE: Final = 100


class ImageLocality(Plugin):
    """Score by the images that a node holds."""

    depends_on = DependsOn.NODE
    equal_by = ("images",)

    def score_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        """0 to 100."""
        names, n_counted = state.pod.images.value
        if self.release.before(36):
            names = names[:n_counted]
        elif not self.release.before(37):
            n_counted = len(names)
        columns = nodes.columns
        total = np.zeros(len(nodes), dtype=np.int64)
        for name in names if nodes.is_known else ():
            image = columns.images.get(name)
            if image is not None:
                share = len(image.rows) / columns.n_nodes
                total[_holders(image, nodes)] += int(float(image.size) * share)
        highest = _HIGHEST_PER_CONTAINER * n_counted
        above: IntVector = np.clip(total, _LOWEST, highest) - _LOWEST
        return above * _MAX_SCORE // (highest - _LOWEST)

    def score_part(self, state: CycleState, pod: Pod) -> Hashable:
        """The images, as long as their shares of all nodes stay: those change on every node at once."""
        columns, images = self.handle.cluster_state.columns, state.pod.images
        generation = columns.node_log.generation
        known: tuple[int, Hashable] | None = images.compiled.get(ImageLocality)
        if known is None or known[0] != generation:
            of_pod = [columns.images.get(name) for name in images.value[0]]
            shares = tuple([None if image is None else (image.size, len(image.rows)) for image in of_pod])
            known = images.compiled[ImageLocality] = (generation, (columns.n_nodes, shares))
        return Stamped(images, known[1])


def _holders(image: ImageState, nodes: Nodes) -> Rows | BoolVector:
    """The entries whose node has the image: positions, or (nodes,) bool; the effort is that of the smaller side."""
    if nodes.rows is None:
        return image.row_vector
    if len(nodes) <= len(image.rows):
        return np.array([row in image.rows for row in nodes.rows.tolist()], dtype=np.bool_)
    held = np.zeros(nodes.columns.capacity, dtype=np.bool_)
    held[image.row_vector] = True
    return nodes.take(held)
