package io.penstock.gateway.relay;

import io.penstock.check.Checks;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Limits of the queue before the engines.
///
/// @param queued requests that wait at most
/// @param patience longest wait
/// @param goal time to the first token that a request must be able to reach, or it is refused at once; null for none
public record AdmissionOptions(int queued, Duration patience, @Nullable Duration goal) {
  public AdmissionOptions {
    Checks.notNegative("queued", queued);
    Checks.positive("patience", patience);
  }

  /// 512 requests, 30 s each, no goal.
  public static AdmissionOptions defaults() {
    return new AdmissionOptions(512, Duration.ofSeconds(30), null);
  }
}
