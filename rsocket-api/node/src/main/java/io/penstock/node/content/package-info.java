/// The bytes of the blocks that commands put, and the sources they come from: files, or a pattern that can be
/// recomputed from a block's key.
@NullMarked
package io.penstock.node.content;

import org.jspecify.annotations.NullMarked;
