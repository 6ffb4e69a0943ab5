/// Objects as values: operations of S3 on stores of values.
@NullMarked
package io.penstock.s3.object;

import org.jspecify.annotations.NullMarked;
