/// Records: the bytes that stand for one block, or for the removal of one, on a log. `FORMAT.md` of this module
/// describes them so that a reader can be written from it alone.
@NullMarked
package io.penstock.storage.record;

import org.jspecify.annotations.NullMarked;
