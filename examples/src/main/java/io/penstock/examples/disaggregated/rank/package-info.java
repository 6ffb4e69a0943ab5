/// An instance of the model that is split over ranks: what each rank computes, and the part of the cache that it keeps.
@NullMarked
package io.penstock.examples.disaggregated.rank;

import org.jspecify.annotations.NullMarked;
