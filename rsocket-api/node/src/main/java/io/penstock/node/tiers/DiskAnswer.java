package io.penstock.node.tiers;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// A question to a disk, which may never answer.
final class DiskAnswer {
  private DiskAnswer() {}

  /// What `question` says. Empty for a disk that does not answer in time, or not at all.
  static <T> Optional<T> within(Duration patience, Callable<T> question) {
    FutureTask<T> answer = new FutureTask<>(question);
    Thread.ofPlatform().daemon().name("penstock-disk-answer").start(answer);
    try {
      return Optional.of(answer.get(patience.toMillis(), TimeUnit.MILLISECONDS));
    } catch (ExecutionException | TimeoutException e) {
      return Optional.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }
}
