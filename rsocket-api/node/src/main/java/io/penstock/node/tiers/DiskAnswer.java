package io.penstock.node.tiers;

import static java.util.Objects.requireNonNull;

import io.penstock.node.text.Durations;
import io.penstock.node.text.Reason;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A question to a disk, which may never answer.
final class DiskAnswer {
  private static final Logger LOG = LoggerFactory.getLogger(DiskAnswer.class);

  private DiskAnswer() {}

  /// What `question` says. Empty, with a line in the log, for a disk that does not answer in time, or not at all.
  ///
  /// @param what is asked for, for the log
  static <T> Optional<T> within(Duration patience, String what, Callable<T> question) {
    FutureTask<T> answer = new FutureTask<>(question);
    Thread.ofPlatform().daemon().name("penstock-disk-answer").start(answer);
    try {
      return Optional.of(answer.get(patience.toMillis(), TimeUnit.MILLISECONDS));
    } catch (ExecutionException e) {
      LOG.warn("{} is not known: {}", what, Reason.of(requireNonNull(e.getCause())));
      return Optional.empty();
    } catch (TimeoutException e) {
      LOG.warn("{} is not known: the disk must answer within {} (did not)", what, Durations.print(patience));
      return Optional.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }
}
