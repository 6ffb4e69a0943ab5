/// Words of a cluster of nodes: who is a member, and who says that it has which block. A directory answers both; it is
/// soft state, and may be wrong: only the owner of a block knows that it has it.
@NullMarked
package io.penstock.wire.cluster;

import org.jspecify.annotations.NullMarked;
