/// The door of S3: clients store values in the tiers of a node under buckets and keys.
@NullMarked
package io.penstock.s3;

import org.jspecify.annotations.NullMarked;
