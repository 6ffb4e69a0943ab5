package io.penstock.storage;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.storage.disk.HealthOptions;
import io.penstock.storage.disk.SyncRule;
import java.io.IOException;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// The table of options in the README says what the code does.
final class OptionsTableTest {
  private static final JournalOptions DEFAULTS = JournalOptions.defaults(Path.of("unused"));

  @Test
  void table_hasEveryOption_withItsDefault() throws IOException {
    HealthOptions health = DEFAULTS.health();
    SyncRule rule = DEFAULTS.durability();
    Map<String, String> table = table();
    assertThat(table).containsEntry("name", "`" + DEFAULTS.name() + "`")
        .containsEntry("engine", "`" + DEFAULTS.engine() + "`")
        .containsEntry("segments.segmentBytes", size(DEFAULTS.segments().segmentBytes()))
        .containsEntry("segments.keepFreeBytes", size(DEFAULTS.segments().keepFreeBytes()))
        .containsEntry("bounds.ioThreads", String.valueOf(DEFAULTS.bounds().ioThreads()))
        .containsEntry("bounds.maxWaitingPuts",
            DEFAULTS.bounds().maxWaitingPuts() + ", " + number(DEFAULTS.bounds().maxWaitingReads()))
        .containsEntry("durability",
            "%s, %s, %s".formatted(rule.mode().name().toLowerCase(Locale.ROOT), time(rule.interval()),
                size(rule.bytes())))
        .containsEntry("reclaim",
            "no capacity, %s, %s/s".formatted(DEFAULTS.reclaim().mostSpread(),
                size(DEFAULTS.reclaim().bytesPerSecond())))
        .containsEntry("health",
            String.join(", ", time(health.stallAfter()), time(health.firstProbe()), time(health.lastProbe()),
                time(health.closeWithin())))
        .containsEntry("bounds.quarantine",
            size(DEFAULTS.bounds().quarantine().bytes()) + ", " + number(DEFAULTS.bounds().quarantine().records()));
    List<String> options = table.keySet().stream().map(name -> name.replaceFirst("\\..*", "")).distinct().toList();
    assertThat(options).containsExactlyElementsOf(
        Arrays.stream(JournalOptions.class.getRecordComponents()).map(RecordComponent::getName).toList());
  }

  /// The second column by the names in the first.
  private static Map<String, String> table() throws IOException {
    String readme = Files.readString(Path.of("docs/operating.md"));
    String section = readme.substring(readme.indexOf("## Options"), readme.indexOf("## Durability"));
    Map<String, String> rows = new LinkedHashMap<>();
    section.lines().filter(line -> line.startsWith("| `")).skip(1).map(line -> line.split("\\|")).forEach(cells -> {
      for (String name : cells[1].split(",")) {
        rows.put(name.replace("`", "").strip(), cells[2].strip());
      }
    });
    return rows;
  }

  private static String size(long bytes) {
    return bytes % (1 << 30) == 0 ? (bytes >> 30) + " GiB" : (bytes >> 20) + " MiB";
  }

  private static String number(long value) {
    return String.format(Locale.ROOT, "%,d", value);
  }

  private static String time(Duration time) {
    return time.toMillis() % 1000 == 0 ? time.toSeconds() + " s" : time.toMillis() + " ms";
  }
}
