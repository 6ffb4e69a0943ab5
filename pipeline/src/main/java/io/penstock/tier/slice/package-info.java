/// Cutting windows into slices, and landing slices: the common part of a stack of tiers and a connection.
@NullMarked
package io.penstock.tier.slice;

import org.jspecify.annotations.NullMarked;
