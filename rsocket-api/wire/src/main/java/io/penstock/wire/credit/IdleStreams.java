package io.penstock.wire.credit;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The streams of one connection whose peer owes something, so that they may stand still. Safe from any thread.
public final class IdleStreams {
  @GuardedBy("this") private final Set<SilenceLimit> owed = new LinkedHashSet<>();
  private volatile boolean suspect;

  synchronized void enter(SilenceLimit stream) {
    owed.add(stream);
  }

  synchronized void leave(SilenceLimit stream) {
    owed.remove(stream);
  }

  /// The stream that has stood still longest, for at least `leastMillis`; null if there is none.
  synchronized @Nullable SilenceLimit longest(long nowMillis, long leastMillis) {
    SilenceLimit longest = null;
    long most = leastMillis - 1;
    for (SilenceLimit stream : owed) {
      long silent = stream.silentMillis(nowMillis);
      if (silent > most) {
        most = silent;
        longest = stream;
      }
    }
    return longest;
  }

  /// A stream was ended because it stood still while others waited.
  void suspect() {
    suspect = true;
  }

  /// Whether the connection has moved no byte since one of its streams was ended.
  boolean isSuspect() {
    return suspect;
  }

  /// Bytes were moved.
  void moved() {
    if (suspect) {
      suspect = false;
    }
  }
}
