package io.penstock.wire.report;

import java.util.function.Consumer;
import reactor.util.context.Context;

/// Errors of requests that have ended. When a connection closes, RSocket fails all of its requests; one that is
/// cancelled at this moment, on another thread, is failed too, and RSocket reports that failure as one that reached no
/// subscriber. It is none: the request was over.
public final class LateErrors {
  /// Where Reactor looks for what receives such errors of one subscriber.
  private static final String HOOK = "reactor.onErrorDropped.local";
  private static final Consumer<Throwable> IGNORED = error -> {};

  private static final Context ALONE = ignoredIn(Context.empty());

  private LateErrors() {}

  /// The context of a subscriber that has no other.
  public static Context ignored() {
    return ALONE;
  }

  /// `context` for the subscriber of a request, which hears every error until the request is over.
  public static Context ignoredIn(Context context) {
    return context.put(HOOK, IGNORED);
  }
}
