package io.penstock.cluster.directory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// What every [SharedMap] does. Tests use names of their own, for maps may be shared by them.
public abstract class SharedMapContract {
  private static final long[] NO_FORMER = {};
  private final SplittableRandom random = new SplittableRandom();

  /// Members' maps of one cluster, at least two.
  protected abstract List<? extends SharedMap> maps();

  /// Runs a call to its end.
  protected abstract <T> T run(Mono<T> call);

  @Test
  void announced_isLocatedByAll_inTheOrderOfTheNames() {
    List<BlockName> names = names(100);
    run(maps().get(0).announce(5, 2, NO_FORMER, names.subList(0, 50)));
    run(maps().get(1).announce(3, 0, NO_FORMER, names.subList(25, 75)));
    for (SharedMap map : maps()) {
      List<String> located = located(map, names);
      assertThat(located.subList(0, 25)).containsOnly("5@2");
      assertThat(located.subList(25, 50)).containsOnly("3@0 5@2");
      assertThat(located.subList(50, 75)).containsOnly("3@0");
      assertThat(located.subList(75, 100)).containsOnly("");
    }
  }

  @Test
  void announcedAgain_hasItsNewLevel_andTakesThePlaceOfFormerRounds() {
    List<BlockName> names = names(10);
    run(maps().get(0).announce(5, 2, NO_FORMER, names));
    run(maps().get(0).announce(5, 1, NO_FORMER, names));
    assertThat(located(maps().get(1), names)).containsOnly("5@1");
    run(maps().get(0).announce(9, 3, new long[] {5, 6}, names));
    assertThat(located(maps().get(1), names)).containsOnly("9@3");
  }

  @Test
  void forgotten_leavesTheOthers() {
    List<BlockName> names = names(10);
    run(maps().get(0).announce(5, 2, NO_FORMER, names));
    run(maps().get(1).announce(6, 2, NO_FORMER, names));
    run(maps().get(0).forget(new long[] {4, 5}, names));
    assertThat(located(maps().get(1), names)).containsOnly("6@2");
    run(maps().get(1).forget(new long[] {6}, names));
    run(maps().get(1).forget(new long[] {6}, names));
    assertThat(located(maps().get(0), names)).containsOnly("");
  }

  @Test
  void twoMembersAtOnce_areBothListed() {
    List<BlockName> names = names(200);
    List<Mono<Void>> calls = new ArrayList<>();
    for (int i = 0; i < maps().size(); i++) {
      calls.add(maps().get(i).announce(100 + i, i, NO_FORMER, names));
    }
    run(Flux.merge(calls).then(Mono.just(true)));
    String all = String.join(" ", IntStream.range(0, maps().size()).mapToObj(i -> 100 + i + "@" + i).toList());
    assertThat(located(maps().get(0), names)).containsOnly(all);
  }

  @Test
  void aName_hasABoundedNumberOfHolders() {
    List<BlockName> names = names(3);
    for (int i = 0; i < Holders.MOST + 5; i++) {
      run(maps().get(i % maps().size()).announce(1000 + i, 0, NO_FORMER, names));
    }
    byte[] holders = run(maps().get(0).locate(names)).get(0);
    assertThat(Holders.count(holders)).isEqualTo(Holders.MOST);
  }

  @Test
  void unknownRounds_areFoundAndPurged_whereTheyAreKept() {
    List<BlockName> names = names(300);
    run(maps().get(0).announce(70, 0, NO_FORMER, names));
    run(maps().get(0).announce(71, 0, NO_FORMER, names));
    for (SharedMap map : maps()) {
      assertThat(run(map.unknown(round -> round != 70))).containsExactly(70);
      run(map.purge(new long[] {70}));
      assertThat(run(map.unknown(round -> round != 70))).isEmpty();
    }
    assertThat(located(maps().get(1), names)).containsOnly("71@0");
  }

  private List<BlockName> names(int count) {
    return IntStream.range(0, count).mapToObj(i -> new BlockName(random.nextLong(), random.nextLong())).toList();
  }

  private List<String> located(SharedMap map, List<BlockName> names) {
    return run(map.locate(names)).stream().map(holders -> String.join(" ", IntStream.range(0, Holders.count(holders))
        .mapToObj(i -> Holders.roundAt(holders, i) + "@" + Holders.levelAt(holders, i)).toList())).toList();
  }
}
