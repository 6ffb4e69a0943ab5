/// What a node keeps and where: the stack of device memory, host memory and disk, put together as the settings say.
@NullMarked
package io.penstock.node.tiers;

import org.jspecify.annotations.NullMarked;
