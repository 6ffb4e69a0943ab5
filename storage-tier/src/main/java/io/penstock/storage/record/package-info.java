/// Records: the bytes of a block, or of a removal, in a log. `FORMAT.md` describes them so that a reader can be written
/// from it alone.
@NullMarked
package io.penstock.storage.record;

import org.jspecify.annotations.NullMarked;
