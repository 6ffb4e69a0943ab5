package io.penstock.wire.protocol;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/// A message whose components that are null are left out; any other message has them as null.
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@interface OmitsNulls {}
