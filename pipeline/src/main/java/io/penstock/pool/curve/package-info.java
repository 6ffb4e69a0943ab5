/// Miss-ratio curves: the hit rate that other capacities would bring, estimated from a sample of the references.
@NullMarked
package io.penstock.pool.curve;

import org.jspecify.annotations.NullMarked;
