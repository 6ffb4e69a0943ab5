/// The catalogue of meters, and the classes that show tiers, budgets and arenas with them. Only this package of the
/// kernel uses Micrometer.
@NullMarked
package io.penstock.meter;

import org.jspecify.annotations.NullMarked;
