package io.penstock.gateway.relay;

import io.penstock.check.Checks;
import java.time.Duration;

/// Limits of a request.
///
/// @param attempts before the first byte, the first one included
/// @param resumes of an answer whose engine died; 0 for none
/// @param first longest wait for the first event of a streamed answer, after admission
/// @param idle longest silence between two events
/// @param total longest time of a request
public record RelayOptions(int attempts, int resumes, Duration first, Duration idle, Duration total) {
  public RelayOptions {
    Checks.positive("attempts", attempts);
    Checks.notNegative("resumes", resumes);
    Checks.positive("first", first);
    Checks.positive("idle", idle);
    Checks.positive("total", total);
  }

  /// Three attempts, two resumes, 120 s to the first event, 60 s of silence, 30 min.
  public static RelayOptions defaults() {
    return new RelayOptions(3, 2, Duration.ofSeconds(120), Duration.ofSeconds(60), Duration.ofMinutes(30));
  }
}
