/// What bounds the bytes under way: budgets with fair lanes, rates, credit for slices, and limits of silence. Steps of
/// one stream run one after another.
@NullMarked
package io.penstock.wire.credit;

import org.jspecify.annotations.NullMarked;
