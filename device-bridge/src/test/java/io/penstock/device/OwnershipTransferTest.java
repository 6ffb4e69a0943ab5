package io.penstock.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;

/// What is owned arrives or is given back, whenever the cancel comes.
@Timeout(30)
final class OwnershipTransferTest {
  private final List<String> given = new ArrayList<>();

  @Test
  void cancel_beforeTheValue_givesBack() {
    handedOver(Mono.never()).subscribe().dispose();
    assertThat(given).containsExactly("back");
  }

  @Test
  void error_givesBack() {
    handedOver(Mono.error(new IllegalStateException("failed"))).subscribe(value -> {}, error -> {});
    assertThat(given).containsExactly("back");
  }

  @Test
  void cancel_byAnotherThreadBeforeTheReceiverHasTheValue_closesIt() {
    handedOver(Mono.just("value")).subscribe(new BaseSubscriber<String>() {
      @Override
      protected void hookOnNext(String value) {
        CompletableFuture.runAsync(this::cancel).join();
      }
    });
    assertThat(given).containsExactly("value");
  }

  @Test
  void cancel_byTheReceiver_leavesItTheValue() {
    handedOver(Mono.just("value")).subscribe(new BaseSubscriber<String>() {
      @Override
      protected void hookOnNext(String value) {
        cancel();
      }
    });
    assertThat(given).isEmpty();
  }

  @Test
  void cancel_afterTheEnd_leavesItTheValue() {
    handedOver(Mono.just("value")).flatMap(value -> Mono.never()).subscribe().dispose();
    assertThat(given).isEmpty();
  }

  private Mono<String> handedOver(Mono<String> value) {
    return OwnershipTransfer.orRelease(value, () -> given.add("back"), given::add);
  }
}
