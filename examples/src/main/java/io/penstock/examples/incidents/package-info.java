/// `penstock example incidents`: faults of the field as recordings, each played, searched, and run on Penstock.
@NullMarked
package io.penstock.examples.incidents;

import org.jspecify.annotations.NullMarked;
