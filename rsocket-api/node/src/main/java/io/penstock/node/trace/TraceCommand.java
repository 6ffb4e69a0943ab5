package io.penstock.node.trace;

import io.penstock.node.cli.CommandGroup;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.Flag;
import io.penstock.node.cli.OutputFile;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// `penstock trace`: works on traces; its only verb so far is `generate`.
@Command(name = "trace", description = "Works on traces of LLM requests.", mixinStandardHelpOptions = true,
    subcommands = TraceCommand.Generate.class,
    footer = {"", "Example:", "  penstock trace generate --requests 5000 --seed 7 --out trace.jsonl"})
public final class TraceCommand extends CommandGroup {
  /// `penstock trace generate`: writes a seeded trace of conversations.
  @Command(name = "generate",
      description = "Writes a seeded trace of generated requests, in the Mooncake form.",
      mixinStandardHelpOptions = true,
      footer = {"", "Examples:", "  penstock trace generate --requests 5000 --seed 7 --out trace.jsonl",
        "  penstock trace generate --workload agents --out agents.jsonl.gz"})
  static final class Generate implements Callable<Integer> {
    @Option(names = "--workload", paramLabel = "NAME",
        description = "Kind of requests: " + Workload.NAMES + " (default: ${DEFAULT-VALUE}).",
        defaultValue = "conversation")
    private String workload = "";

    @Option(names = "--requests", paramLabel = "N", description = "Number of requests (default: ${DEFAULT-VALUE}).",
        defaultValue = "1000")
    private int requests;

    @Option(names = "--seed", paramLabel = "S",
        description = "Equal seeds make equal traces (default: ${DEFAULT-VALUE}).", defaultValue = "1")
    private long seed;

    @Option(names = "--out", paramLabel = "FILE",
        description = "Output file; a name that ends with .gz is packed (default: standard output).")
    private @Nullable Path out;

    private final Console console;

    Generate(Console console) {
      this.console = console;
    }

    @Override
    public Integer call() throws IOException {
      Workload kind = Workload.parse("--workload", workload);
      GeneratorOptions options = Flag.named(() -> new GeneratorOptions(requests, seed));
      if (out != null) {
        OutputFile.require("--out", out);
      }
      try (TraceWriter writer = out == null ? new TraceWriter(keptOpen(console.out())) : TraceWriter.create(out)) {
        TraceSource source = kind.open(options);
        for (TraceRequest request = source.next(); request != null; request = source.next()) {
          writer.write(request);
        }
      }
      return 0;
    }

    private static OutputStream keptOpen(OutputStream out) {
      return new FilterOutputStream(out) {
        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
          out.write(bytes, offset, length);
        }

        @Override
        public void close() throws IOException {
          flush();
        }
      };
    }
  }
}
