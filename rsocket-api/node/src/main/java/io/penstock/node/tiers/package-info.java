/// The levels of a node: the stack of device memory, host memory and disk, assembled from the settings.
@NullMarked
package io.penstock.node.tiers;

import org.jspecify.annotations.NullMarked;
