/// Prefill and decode ranks over the wire: their registry, their signals, and views of the blocks of other layouts.
@NullMarked
package io.penstock.wire.rank;

import org.jspecify.annotations.NullMarked;
