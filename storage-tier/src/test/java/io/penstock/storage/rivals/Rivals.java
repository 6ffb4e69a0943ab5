package io.penstock.storage.rivals;

import io.penstock.storage.disk.SyncMode;
import io.penstock.storage.disk.SyncRule;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.json.JsonMapper;

/// The store beside its rivals, round by round in turn, on the same file system: medians, and what they are to each
/// other.
///
/// `mvn -Pjmh -pl storage-tier -am verify -Djmh.main=io.penstock.storage.rivals.Rivals -Djmh.include=append
/// -Djmh.args="--json rivals.json"`
@Command(name = "rivals", mixinStandardHelpOptions = true)
public final class Rivals implements Callable<Integer> {
  private static final int KIB = 1 << 10;
  private static final int MIB = 1 << 20;

  @Parameters(paramLabel = "REGEX", defaultValue = ".*", description = "append, read or cold: which of them.")
  private String wanted = ".*";

  @Option(names = "--sizes", split = ",", defaultValue = "64,256,1024,4096",
      description = "KiB of a block: powers of two from 64 on.")
  private List<Integer> sizes = List.of();

  @Option(names = "--durability", split = ",", defaultValue = "none,interval,always", description = "For append.")
  private List<SyncMode> durability = List.of();

  @Option(names = "--rivals", split = ",",
      defaultValue = "chronicle,plain,engine,mapped_file,file,rocksdb,rocksdb_unchecked",
      description = "Which of them.")
  private List<RivalKind> kinds = List.of();

  @Option(names = "--mib", defaultValue = "512", description = "MiB of blocks.")
  private int mib;

  @Option(names = "--rounds", defaultValue = "5", description = "Rounds that count.")
  private int rounds;

  @Option(names = "--warm", defaultValue = "2", description = "Rounds before, that do not.")
  private int warm;

  @Option(names = "--threads", description = "Threads that read cached blocks; default: one a processor.")
  private int threads = Runtime.getRuntime().availableProcessors();

  @Option(names = "--into", defaultValue = "64",
      description = "MiB of memory that each reader reads into, one batch after the other: 64 is more than a "
          + "processor's caches hold, as if all that is read were kept; 1 is what an "
          + "arena gives if it is passed on and freed, since the slot freed last is next.")
  private int into;

  @Option(names = "--dir", defaultValue = "target/rivals",
      description = "A folder on the file system to be measured; what is made there is deleted.")
  private Path folder = Path.of("target/rivals");

  @Option(names = "--json", paramLabel = "FILE", description = "Write the figures there, too.")
  private @Nullable Path json;

  private final PrintStream out;
  private final List<Comparison> done = new ArrayList<>();
  private final List<Verdict> verdicts = new ArrayList<>();

  private Rivals(PrintStream out) {
    this.out = out;
  }

  public static void main(String[] args) {
    System.exit(run(System.out, args));
  }

  static int run(PrintStream out, String... args) {
    return new CommandLine(new Rivals(out)).setCaseInsensitiveEnumValuesAllowed(true).execute(args);
  }

  @Override
  public Integer call() throws IOException {
    Files.createDirectories(folder);
    for (int size : sizes) {
      if ("append".matches(wanted)) {
        for (SyncMode mode : durability) {
          Contest contest = contest(size, SyncRule.defaults().withMode(mode), threads);
          judged(new AppendContest(contest, folder, of(RivalKind.APPENDING)).run(warm, rounds), Verdict::ofAppend);
        }
      }
      if ("read".matches(wanted)) {
        judged(
            new CachedContest(contest(size, SyncRule.none(), threads), folder, of(RivalKind.READING)).run(warm, rounds),
            Verdict::ofCachedReads);
      }
      if ("cold".matches(wanted)) {
        judged(new ColdContest(contest(size, SyncRule.none(), 8), folder, of(RivalKind.READING_COLD), out).run(warm,
            rounds), Verdict::ofColdReads);
      }
    }
    verdicts.forEach(each -> out.println(each.text()));
    if (json != null) {
      write(json);
    }
    return 0;
  }

  private List<RivalKind> of(List<RivalKind> all) {
    return all.stream().filter(kinds::contains).toList();
  }

  private Contest contest(int size, SyncRule rule, int readers) {
    return new Contest(size * KIB, (long) mib * MIB, rule, readers, (long) into * MIB);
  }

  private void judged(Comparison comparison, Function<Comparison, List<Verdict>> judge) {
    done.add(comparison);
    verdicts.addAll(judge.apply(comparison));
    out.print(comparison.text());
    out.flush();
  }

  private void write(Path file) throws IOException {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("mebibytes", mib);
    all.put("rounds", rounds);
    all.put("intoMebibytes", into);
    all.put("threads", threads);
    all.put("java", Runtime.version().toString());
    all.put("system",
        String.join(" ", System.getProperty("os.name"), System.getProperty("os.version"), System.getProperty("os.arch"))
            .toLowerCase(Locale.ROOT));
    all.put("comparisons", done.stream().map(Comparison::json).toList());
    all.put("ratios", verdicts.stream().map(Verdict::json).toList());
    JsonMapper.shared().writerWithDefaultPrettyPrinter().writeValue(file.toFile(), all);
  }
}
