/// The nodes of a cluster as one tier. Any node says who has a block; its bytes come straight from the owner, which
/// alone knows that it has them.
@NullMarked
package io.penstock.wire.cluster.tier;

import org.jspecify.annotations.NullMarked;
