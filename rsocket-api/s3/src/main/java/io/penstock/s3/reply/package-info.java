/// What S3 answers: its error codes and its documents.
@NullMarked
package io.penstock.s3.reply;

import org.jspecify.annotations.NullMarked;
