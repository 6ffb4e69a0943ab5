/// The directory of blocks: who says that it has which. Its logic runs over any [SharedMap]: members announce their
/// blocks, and look up who has announced one. It knows no engine.
@NullMarked
package io.penstock.cluster.directory;

import org.jspecify.annotations.NullMarked;
