package io.penstock.storage.disk;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/// When a call waits too long for the disk.
final class DiskWatchTest {
  private final DiskWatch watch = new DiskWatch();

  @Test
  void whatStays_isLateAfterItsTicks_andNotBefore() {
    int slot = watch.enter(DiskWatch.TICKS);
    for (int i = 0; i < DiskWatch.TICKS; i++) {
      assertThat(watch.tick()).isFalse();
    }
    assertThat(watch.tick()).isTrue();
    watch.leave(slot);
    assertThat(watch.tick()).isFalse();
  }

  @Test
  void anyOfMany_isSeen_andTooManyAreNotRefused() {
    int[] slots = new int[100];
    for (int i = 0; i < slots.length; i++) {
      slots[i] = watch.enter(DiskWatch.TICKS);
    }
    for (int i = 0; i < slots.length; i++) {
      if (i != 10) {
        watch.leave(slots[i]);
      }
    }
    for (int i = 0; i < DiskWatch.TICKS; i++) {
      watch.tick();
    }
    assertThat(watch.tick()).isTrue();
    watch.leave(slots[10]);
    assertThat(watch.tick()).isFalse();
  }
}
