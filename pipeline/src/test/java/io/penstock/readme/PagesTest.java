package io.penstock.readme;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.disagg.plan.Rank;
import io.penstock.disagg.plan.Transfer;
import io.penstock.flow.PushLayers;
import io.penstock.stack.HostTier;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.TierListener;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.test.scheduler.VirtualTimeScheduler;

/// The examples of the pages in `docs` compile and run.
final class PagesTest {
  private static final String MARK = "    // README\n";

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  /// A page shows the project's imports and the marked part of an example.
  @ParameterizedTest
  @CsvSource({"disaggregation.md, PlanExample", "moves.md, PushExample"})
  void page_showsTheMarkedPart(String page, String example) throws IOException {
    String source = Files.readString(Path.of("src/test/java/io/penstock/readme", example + ".java"));
    String imports = source.lines().filter(line -> line.startsWith("import io.penstock.")).collect(
        Collectors.joining("\n"));
    String marked =
        source.substring(source.indexOf(MARK) + MARK.length(), source.lastIndexOf(MARK)).stripTrailing().stripIndent();

    assertThat(Files.readString(Path.of("docs", page))).contains("```java\n" + imports + "\n\n" + marked + "\n```\n");
  }

  @Test
  void planExample_asksEachSenderOnce() {
    List<Transfer> asked = new ArrayList<>();
    List<Rank> awaited = new ArrayList<>();
    List<Rank> released = new ArrayList<>();
    PlanExample.first(asked::add, awaited::add, released::add);

    assertThat(asked.stream().map(Transfer::source)).containsExactlyElementsOf(awaited)
        .containsExactlyInAnyOrder(new Rank(0, 0, 0), new Rank(0, 0, 1), new Rank(1, 0, 0), new Rank(1, 0, 1));
    assertThat(released).isEmpty();
  }

  @Test
  void pushExample_runs() {
    CacheSpace space = CacheSpace.of("model", BlockLayout.attention(2, 4, 1, 4, ElementType.BF16));
    SlabArena arena = leaks.watch(new SlabArena("push", space.layout(), 4, 4));
    List<BlockDraft> drafts = requireNonNull(arena.tryClaim(PushLayers.keys(space, "request", 4)));
    try {
      PushExample.push(new HostTier(space, 1, TierListener.noop()), List.of(VirtualTimeScheduler.create()), "request",
          drafts, 2);
    } finally {
      drafts.forEach(BlockDraft::close);
    }
  }
}
