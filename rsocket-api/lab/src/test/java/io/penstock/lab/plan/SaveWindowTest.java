package io.penstock.lab.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class SaveWindowTest {
  private static List<Optional<SaveWindow>> windows(int granularity, boolean whole, int... tokens) {
    List<Optional<SaveWindow>> windows = new ArrayList<>();
    int saved = 0;
    for (int now : tokens) {
      Optional<SaveWindow> window = SaveWindow.next(saved, now, granularity, whole);
      saved = window.map(SaveWindow::end).orElse(saved);
      windows.add(window);
    }
    return windows;
  }

  private static Optional<SaveWindow> window(int start, int end) {
    return Optional.of(new SaveWindow(start, end));
  }

  @Test
  void steps_saveWholeGranulesOnce() {
    assertThat(windows(32, true, 20, 40, 70)).containsExactly(Optional.empty(), window(0, 32), window(32, 64));
    assertThat(windows(32, true, 32, 33, 64, 64, 128)).containsExactly(window(0, 32), Optional.empty(), window(32, 64),
        Optional.empty(), window(64, 128));
    assertThat(windows(32, false, 20, 40, 70)).containsExactly(window(0, 20), window(20, 40), window(40, 70));
  }

  @Test
  void partThatALookupFound_isNotSaved() {
    assertThat(new SaveWindow(0, 96).after(64)).isEqualTo(window(64, 96));
    assertThat(new SaveWindow(32, 96).after(0)).isEqualTo(window(32, 96));
    assertThat(new SaveWindow(0, 96).after(96)).isEmpty();
  }

  @Test
  void equalCopies_shareTheChunks() {
    assertThat(SaveWindow.share(5, 2, 0).toArray()).containsExactly(0, 2, 4);
    assertThat(SaveWindow.share(5, 2, 1).toArray()).containsExactly(1, 3);
    assertThat(SaveWindow.share(5, 1, 0).toArray()).containsExactly(0, 1, 2, 3, 4);
    assertThatThrownBy(() -> SaveWindow.share(5, 2, 2)).isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void partialBlock_isTheLastOne_ifItHasNoHash() {
    assertThat(SaveWindow.partialBlock(20, 16, 1)).hasValue(1);
    assertThat(SaveWindow.partialBlock(20, 16, 9)).hasValue(1);
    assertThat(SaveWindow.partialBlock(32, 16, 1)).hasValue(1);
    assertThat(SaveWindow.partialBlock(32, 16, 2)).isEmpty();
    assertThat(SaveWindow.partialBlock(0, 16, 0)).isEmpty();
  }

  @Test
  void headsAndStages_areSharedByTheLargerSide() {
    assertThat(HeadShare.of(2, 4, 8, true)).isEqualTo(new HeadShare(true, 4, 4, 2, 2));
    assertThat(HeadShare.of(4, 2, 8, true)).isEqualTo(new HeadShare(true, 4, 2, 2, 1));
    assertThat(HeadShare.of(2, 4, 8, false)).isEqualTo(new HeadShare(false, 4, 4, 4, 1));
    assertThat(HeadShare.of(4, 4, 8, true).enabled()).isFalse();
    PoolKey key = PoolKeyTest.key();
    assertThat(StageShare.of(key, List.of(1, 3), 8)).containsExactly(new StageShare(key.withStage(0), 0, 2),
        new StageShare(key.withStage(1), 2, 8));
  }
}
