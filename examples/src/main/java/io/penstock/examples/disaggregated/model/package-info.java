/// A small decoder-only transformer in plain Java: its numbers are equal bit for bit however it is split over ranks.
@NullMarked
package io.penstock.examples.disaggregated.model;

import org.jspecify.annotations.NullMarked;
