/// Connections: one request after the other, bodies with backpressure.
@NullMarked
package io.penstock.s3.serve;

import org.jspecify.annotations.NullMarked;
