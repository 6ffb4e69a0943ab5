package io.penstock.lab;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.CommandLineRun;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.shape.LayoutSettings;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

final class LabMainTest {
  /// For cases that do no work, because making the tree of all commands takes longer than any of them.
  private static final Program PROGRAM = new Program();
  private static final String VERSION = LabRun.of("--version").out();

  /// One program that runs several command lines, one after another.
  private static final class Program {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final CommandLine line = LabMain.commandLine(new Console(InputStream.nullInputStream(),
        new PrintStream(out, true, UTF_8), new PrintStream(err, true, UTF_8), false, Map.of()));

    CommandLineRun run(String... arguments) {
      out.reset();
      err.reset();
      int code = line.execute(arguments);
      return new CommandLineRun(code, out.toString(UTF_8), err.toString(UTF_8), out.toByteArray());
    }
  }

  @Test
  void aLineWithOneCommand_saysWhatAWholeOneSays() {
    for (String line : List.of("bench start --help", "bench wire --nonsense", "bench", "bench weir", "plan --help",
        "torture", "attack --help", "put --help", "help bench start")) {
      String[] arguments = line.split(" ");
      CommandLineRun narrow = CommandLineRun.of(console -> LabMain.commandLine(console, arguments), Map.of(),
          new byte[0], arguments);
      CommandLineRun whole = PROGRAM.run(arguments);
      assertThat(narrow.exitCode()).as(line).isEqualTo(whole.exitCode());
      assertThat(narrow.out()).as(line).isEqualTo(whole.out());
      assertThat(narrow.err()).as(line).isEqualTo(whole.err());
    }
  }

  @Test
  void eachBench_isMadeByTheNameThatItHas() {
    PROGRAM.line.getSubcommands().get("bench").getSubcommands()
        .forEach((name, bench) -> assertThat(bench.getCommandSpec().name()).isEqualTo(name));
  }

  @Test
  void version_isTheRevisionOfTheBuild() {
    CommandLineRun run = LabRun.of("--version");

    assertThat(run.exitCode()).isZero();
    assertThat(run.out().strip()).isEqualTo("penstock " + System.getProperty("penstock.revision"));
  }

  @Test
  void help_showsCommandsExitCodesAndAnExampleOnStandardOutput() {
    CommandLineRun run = PROGRAM.run("--help");

    assertThat(run.exitCode()).isZero();
    assertThat(run.out()).contains("Usage: penstock", "serve", "Examples:", "Exit codes:", "69");
    assertThat(run.err()).isEmpty();
  }

  @Test
  void exitCodes_ofHelpAndManual_areTheSameTable() throws IOException {
    String manual = Files.readString(Path.of("../node/docs/operating.md"));
    Map<String, String> table = new LinkedHashMap<>();
    manual.substring(manual.indexOf("## Exit codes"), manual.indexOf("## Health")).lines()
        .map(line -> line.split("\\|"))
        .filter(cells -> cells.length == 3 && Character.isDigit(cells[1].strip().charAt(0)))
        .forEach(cells -> table.put(cells[1].strip(), cells[2].strip()));
    String help = PROGRAM.run("--help").out().replaceAll("\\s+", " ");

    assertThat(table).containsExactlyEntriesOf(ExitCode.meanings());
    table.forEach((code, meaning) -> assertThat(help).contains(code + " " + meaning));
    assertThat(Arrays.stream(ExitCode.class.getFields()).map(LabMainTest::value)).isSubsetOf(table.keySet());
  }

  private static String value(Field constant) {
    try {
      return constant.get(null).toString();
    } catch (IllegalAccessException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void help_ofServe_namesEverySetting_byTopicsThatHavePages_andThoseOfAscendOnTheirOwn() {
    String serve = PROGRAM.run("serve", "--help").out();
    String all = PROGRAM.run("help", "serve", "all").out();
    String ascend = PROGRAM.run("help", "ascend").out();

    assertThat(serve.lines().count()).isLessThan(120);
    assertThat(serve.lines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(100));
    NodeSettings.TOPICS.forEach(topic -> topic.settings().forEach(
        setting -> assertThat(serve).containsPattern(" " + setting.flag() + "\\s")));
    assertThat(all).contains("\nMemory:\n", "\nDisk:\n", "\nLimits:\n", "\nConnections:\n")
        .doesNotContain("--ascend-");
    NodeSettings.TOPICS.forEach(topic -> assertThat(PROGRAM.run("help", "serve", topic.title().split(" ")[0]).out())
        .contains("\n" + topic.title() + ":\n").contains(topic.settings().getFirst().variable()));
    assertThat(PROGRAM.run("help", "serve", "discs").err())
        .startsWith("help: topic of serve must be one of network, admin, ").contains(", all, or a setting (was discs)");
    assertThat(List.of("ssd-dir", "ssd.dir")).allSatisfy(name -> assertThat(PROGRAM.run("help", "serve", name).out())
        .contains("PENSTOCK_SSD_DIR").doesNotContain("--ssd-engine"));
    assertThat(ascend).doesNotContain("--dram");
    String doors = PROGRAM.run("help", "serve", "doors").out().replaceAll("\\s+", " ");
    assertThat(doors.indexOf("--resp-flush")).as("settings of one door stand together")
        .isBetween(doors.indexOf("--resp="), doors.indexOf("--s3="));
    assertThat(doors).contains("Longest value that a client of Redis' protocol may store.",
        "Longest object that a client of S3 may store.", "Whether connections of clients of S3 have TLS");
    String help = all + ascend;

    NodeSettings.ALL.forEach(
        setting -> assertThat(help).containsPattern(" " + setting.flag() + "\\[?[=,]").contains(setting.variable()));
  }

  @Test
  void help_ofAClientsCommand_leavesTheLayoutToItsPage() {
    String get = PROGRAM.run("get", "--help").out();
    String layout = PROGRAM.run("help", "layout").out();

    assertThat(get).contains("Model and blocks; penstock help layout shows all:", "--model")
        .doesNotContain("--kv-heads");
    LayoutSettings.ALL.forEach(setting -> assertThat(layout).contains(setting.flag(), setting.variable()));
    assertThat(PROGRAM.run("get", "--kvheads", "2").err()).contains("Did you mean: --kv-heads?");
    assertThat(PROGRAM.run("sweep", "x", "--capacity", "2").err()).contains("Did you mean: --capacities?");
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
    "put --timeout 5 x | put: --timeout must be at least 1ms, such as 500ms, 30s or 2m (was 5)",
    "check --receipts x --connect nowhere | check: --connect must be HOST:PORT with a port from 1 to 65535, "
        + "unix:PATH or ws://HOST:PORT/penstock (was nowhere)",
    "torture ssd --dir x --kills many | torture ssd: --kills must be a whole number (was many)",
    "torture ssd --dir x --engine tape | torture ssd: --engine must be one of chronicle, plain (was tape)",
    "torture ssd --dir x --engine memory | torture ssd: --engine must be one of chronicle, plain (was memory)",
    "bench recovery --engine memory | bench recovery: --engine must be one of chronicle, plain (was memory)",
    "bench reclaim --engine memory | bench reclaim: --engine must be one of chronicle, plain (was memory)",
    "replay --limit 0 | replay: --limit must be > 0 (was 0)",
    "replay --concurrency 0 | replay: --concurrency must be in [1, 256] (was 0)",
    "replay --block-bytes 33 | replay: --block-bytes must be a multiple of 32",
    "trace generate --requests 0 | trace generate: --requests must be > 0 (was 0)",
    "bench recovery --size big | bench recovery: --size must be whole bytes, in B, KiB, MiB, GiB or TiB (was big)",
    "bench recovery --block-bytes 1MiB --segment 2MiB | bench recovery: --block-bytes must be > 0 and less than a "
        + "ninth of --segment, 2 MiB (was 1 MiB)",
    "bench reclaim --churn much | bench reclaim: --churn must be a number (was much)",
    "simulate --seeds 5..1 | simulate: --seeds must be A..B with A <= B (was 5..1)",
    "load --receipts x --blocks 0 | load: --blocks must be from 1 to 4294967296 (was 0)",
    "get --key abc | get: "
  })
  void wrongValue_isRefusedByCommandOptionRuleAndValue(String line, String said) {
    CommandLineRun run = PROGRAM.run(line.split(" "));

    assertThat(run.exitCode()).as(run.err()).isEqualTo(2);
    assertThat(run.err()).startsWith(said);
  }

  @ParameterizedTest
  @MethodSource("everyCommand")
  void help_ofEveryCommand_hasAnExample_noControlCharacters_andFitsEightyColumns(String path) {
    CommandLineRun run = PROGRAM.run((path + " --help").split(" "));

    assertThat(run.exitCode()).isZero();
    assertThat(run.out()).contains("Usage: penstock " + path, "Example").doesNotContain("\u001b");
    assertThat(run.err()).isEmpty();
    assertFits(run.out());
  }

  @ParameterizedTest
  @ValueSource(strings = {"--help", "help ascend", "help layout", "models"})
  void otherPages_fitEightyColumns(String line) {
    assertFits(PROGRAM.run(line.split(" ")).out());
  }

  private static void assertFits(String page) {
    assertThat(page.lines()).isNotEmpty().allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(80));
  }

  @ParameterizedTest
  @MethodSource("everyCommand")
  void version_ofEveryCommandThatHasIt_isThatOfAll(String path) {
    CommandLineRun run = PROGRAM.run((path + " --version").split(" "));

    assertThat(run.out().isEmpty() ? run.err() : run.out()).isIn(VERSION, run.err());
    assertThat(run.exitCode()).isEqualTo(run.out().isEmpty() ? 2 : 0);
  }

  @ParameterizedTest
  @ValueSource(strings = {"--help", "simulate --seeds 1", "trace generate --requests 5", "serve --print-config",
    "replay --limit 1"})
  void resultsThatNoReaderTakes_areNoSuccess(String line) {
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    PrintStream full = new PrintStream(new OutputStream() {
      @Override
      public void write(int b) throws IOException {
        throw new IOException("No space left on device");
      }
    });
    Console console =
        new Console(InputStream.nullInputStream(), full, new PrintStream(err, true, UTF_8), false, Map.of());

    assertThat(LabMain.commandLine(console).execute(line.split(" "))).as(err.toString(UTF_8)).isEqualTo(74);
    assertThat(err.toString(UTF_8))
        .contains("standard output must accept the results (was closed by its reader, or full)\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "bench", "trace", "device", "ssd", "torture"})
  void noCommand_listsTheCommandsAndSucceeds(String group) {
    CommandLineRun run = group.isEmpty() ? PROGRAM.run() : PROGRAM.run(group);

    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out()).contains("Commands:").isEqualTo(PROGRAM.run((group + " --help").strip()
        .split(" ")).out());
    assertThat(run.err()).isEmpty();
  }

  @Test
  void help_describesEveryCommandInOneWholeSentenceAndMentionsTheExamples() {
    PROGRAM.line.getSubcommands().forEach((name,
        line) -> assertThat(line.getCommandSpec().usageMessage().description()[0]).as(name).matches("[A-Z][^.]*\\."));

    assertThat(PROGRAM.run("help").out()).contains("./penstock example")
        .isEqualTo(PROGRAM.run("--help").out());
    assertThat(PROGRAM.run("help", "put").out()).isEqualTo(PROGRAM.run("put", "--help").out());
    assertThat(PROGRAM.run("help", "ssd", "verify").out())
        .isEqualTo(PROGRAM.run("ssd", "verify", "--help").out());
  }

  @Test
  void unknownCommand_isMisuseAndListsThoseThereAreAndTheNearest() {
    CommandLineRun bogus = PROGRAM.run("bogus");

    assertThat(bogus.exitCode()).isEqualTo(2);
    assertThat(bogus.err()).startsWith("penstock: command must be one of serve, put, get,").contains("simulate",
        "(was bogus)");
    assertThat(PROGRAM.run("simulte").err()).contains("Did you mean: penstock simulate?\n");
    assertThat(bogus.err()).doesNotContain("Did you mean");
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
    "help ssd verfy | ssd: command must be one that penstock ssd has (was verfy)",
    "help --all | help: option must be one that penstock help has (was --all)",
    "help put --all | help: option must be one that penstock help has (was --all)",
    "help put get | put: argument must be left out, for penstock put takes no other (was get)",
    "replay --limit | replay: --limit must have a value",
    "replay --limit --json | replay: --limit must have a value",
    "ssd verify | ssd verify: DIR must be given",
    "load --block 5 | load: option must be one that penstock load has (was --block)",
    "torture ssd --kills 1 | torture ssd: --dir must be given",
    "torture ssd --kills 1 --kills 2 | torture ssd: --kills must be given once (was given again)",
    "serve --dram 1GiB --dram 2GiB | serve: --dram must be given once (was given again)",
    "ssd verify a b | ssd verify: argument must be left out, for penstock ssd verify takes no other (was b)",
    "put --seed 3 x | put: --seed must be left out without --count, for only generated blocks have one (was 3)"})
  void misuse_isNamedWithItsRuleAndItsValue(String line, String said) {
    CommandLineRun run = PROGRAM.run(line.split(" "));

    assertThat(run.err().lines()).first().isEqualTo(said);
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.out()).isEmpty();
  }

  @Test
  void controlCharacters_areNamedAndNotPrinted() {
    assertThat(PROGRAM.run("replay", "a\u001b[31m").err())
        .isEqualTo("replay: a\\x1b[31m must exist (no such file)\n");
    assertThat(PROGRAM.run("a\u001b[31m").err()).contains("(was a\\x1b[31m)").doesNotContain("\u001b");
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|',
      value = {"replay --limt 3 | Did you mean: --limit?", "simulate --sedes 1..2 | Did you mean: --seeds?",
        "replay --reprot x | Did you mean: --report or --repeat?", "stats | Did you mean: penstock stat?"})
  void mistypedWord_isAnsweredByTheNearest(String line, String said) {
    assertThat(PROGRAM.run(line.split(" ")).err().lines()).contains(said);
  }

  @ParameterizedTest
  @CsvSource({"replay --verbose", "list", "bench reclaim --seconds 3", "stat --foo"})
  void farOffWord_isAnsweredByNone(String line) {
    assertThat(PROGRAM.run(line.split(" ")).err()).doesNotContain("Did you mean", "Possible");
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|',
      value = {"bench reclaim --help | --dir", "bench recovery --help | --dir", "torture ssd --help | --dir",
        "replay --help | --dir",
        "replay --help | --ssd-dir",
        "help serve disk | --ssd-dir"})
  void helpOfAFolder_saysThatItIsMade(String command, String option) {
    String help = PROGRAM.run(command.split(" ")).out();

    assertThat(help.substring(help.indexOf("  " + option + "=")).replaceAll("\\s+", " "))
        .containsPattern("^ " + option + "[^-]*?(-(?!-)[^-]*?)*Made if it is not there\\.");
  }

  @Test
  void missingFiles_areNamedWithTheReasonAndWithoutJava(@TempDir Path folder) {
    String nothing = folder.resolve("nothing/file").toString();

    for (CommandLineRun run : List.of(LabRun.of("replay", nothing),
        LabRun.of("trace", "generate", "--out", nothing),
        LabRun.of("serve", "--listen-port", "0", "--admin-port", "off", "--ready-file", nothing))) {
      assertThat(run.exitCode()).as(run.err()).isEqualTo(74);
      assertThat(run.err()).contains(nothing, " must be in a folder that exists (no such folder)")
          .doesNotContain("Exception");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"replay --report", "bench reclaim --report", "trace generate --out",
    "get --trace-id 1 --output",
    "load --blocks 1 --receipts", "serve --listen-port 0 --admin-port off --ready-file"})
  void fileThatCannotBeWritten_is74_foundBeforeTheWork(String command, @TempDir Path folder) {
    String nothing = folder.resolve("nothing/file").toString();

    CommandLineRun run = LabRun.of((command + " " + nothing).split(" "));

    assertThat(run.exitCode()).as(run.err()).isEqualTo(74);
    assertThat(run.err())
        .endsWith(command.substring(command.lastIndexOf(' ') + 1) + " must be a file that can be written: " + nothing
            + " must be in a folder that exists (no such folder)\n")
        .satisfies(said -> assertThat(said.lines()).hasSize(1));
    assertThat(run.out()).isEmpty();
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void get_toATerminal_needsForce() {
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    Console terminal = new Console(InputStream.nullInputStream(), new PrintStream(OutputStream.nullOutputStream()),
        new PrintStream(err, true, UTF_8), false, true, Map.of());

    assertThat(LabMain.commandLine(terminal).execute("get", "--trace-id", "1")).isEqualTo(2);
    assertThat(err.toString(UTF_8)).startsWith("get: --output, --discard or --force must be given");
    assertThat(LabMain.commandLine(terminal).execute("get", "--trace-id", "1", "--force", "--connect",
        "127.0.0.1:1")).isEqualTo(69);
  }

  @Test
  void unknownOption_isMisuseAndNamesTheOption() {
    CommandLineRun run = PROGRAM.run("serve", "--dramm", "1GiB");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).startsWith("serve: option must be one that penstock serve has (was --dramm)\n")
        .contains("penstock serve --help");
    assertThat(run.out()).isEmpty();
  }

  static Stream<String> everyCommand() {
    return below("", PROGRAM.line);
  }

  private static Stream<String> below(String path, CommandLine line) {
    return line.getSubcommands().entrySet().stream()
        .filter(entry -> !entry.getValue().getCommandSpec().usageMessage().hidden())
        .filter(entry -> !entry.getKey().equals("gateway")) // another module has it; here it says where
        .flatMap(entry -> {
          String name = (path + " " + entry.getKey()).strip();
          return Stream.concat(Stream.of(name), below(name, entry.getValue()));
        });
  }

  @Test
  void aSettingWithoutDefault_saysNone() {
    String help = PROGRAM.run("put", "--help").out().replaceAll("\\s+", " ");
    assertThat(help).contains("PENSTOCK_SALT, default none");
  }
}
