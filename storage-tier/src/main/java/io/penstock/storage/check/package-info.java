/// Looks after the files of a journal that no store has open: finds every damage, and takes it out of the way.
@NullMarked
package io.penstock.storage.check;

import org.jspecify.annotations.NullMarked;
