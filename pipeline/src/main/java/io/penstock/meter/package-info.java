/// The catalogue of meters, and what turns tiers, budgets and arenas into them. The kernel's only package that knows
/// Micrometer.
@NullMarked
package io.penstock.meter;

import org.jspecify.annotations.NullMarked;
