/// The store beside other ways to keep blocks in files, measured in the same run.
@NullMarked
package io.penstock.storage.rivals;

import org.jspecify.annotations.NullMarked;
