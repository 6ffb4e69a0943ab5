/// Blocks that many read get copies at other members, as long as they are read so much.
@NullMarked
package io.penstock.node.cluster.hot;

import org.jspecify.annotations.NullMarked;
