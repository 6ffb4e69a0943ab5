package io.penstock.operator;

import io.penstock.KvException;
import io.penstock.PermanentKvException;
import io.penstock.TransientKvException;
import java.util.function.Supplier;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;

/// Failures in a form that every operator passes on.
///
/// Reactor throws an error of the virtual machine, and a linkage error such as `NoSuchFieldError`, on the thread that
/// met it, in place of signalling it: the stream would never end. So the place that runs a callback catches every
/// `Throwable`, and signals what [#passable] makes of it.
public final class Failures {
  private Failures() {}

  /// Returns `failure`, or a [KvException] with `failure` as its cause if Reactor would throw `failure`. Memory may be
  /// free again later, so a lack of it is transient.
  public static Throwable passable(Throwable failure) {
    return Exceptions.isJvmFatal(failure) ? wrapped(failure) : failure;
  }

  /// Like [#passable], for an exception to throw: a checked exception and any `Error` become a [KvException].
  public static RuntimeException unchecked(Throwable failure) {
    return failure instanceof RuntimeException plain ? plain : wrapped(failure);
  }

  /// What `call` answers; or what it throws, as a signal that every operator passes on.
  public static <T> Mono<T> signalled(Supplier<Mono<T>> call) {
    try {
      return call.get();
    } catch (RuntimeException | Error e) {
      return Mono.error(passable(e));
    }
  }

  private static KvException wrapped(Throwable failure) {
    String message = "The work ended with " + failure + ".";
    return failure instanceof OutOfMemoryError
        ? new TransientKvException(message, failure)
        : new PermanentKvException(message, failure);
  }
}
