package io.penstock.recording.check;

import io.penstock.recording.RecordedEvent;
import org.jspecify.annotations.Nullable;

/// A statement about the events of a recording in their order. Immutable; each reading begins a checker of its own.
public interface Rule {
  /// Short name, such as `demand`; [Rules#named] finds the rule by it.
  String name();

  /// Starts to check a recording at its first event.
  Checker begin();

  /// Reads the events of one recording, one after the other. One thread.
  interface Checker {
    /// Reads the next event.
    ///
    /// @return what is wrong if this event breaks the rule; null if it does not. A checker that has reported a break
    ///     can read on, and reports later breaks, too.
    @Nullable String broken(RecordedEvent event);

    /// Checks what can be known only when the recording has ended, such as streams without an end.
    ///
    /// @return what is wrong; null if nothing is
    default @Nullable String brokenAtEnd() {
      return null;
    }
  }
}
