/// Memory that several spaces share: regions of one size, and who takes and returns them.
@NullMarked
package io.penstock.pool.share;

import org.jspecify.annotations.NullMarked;
