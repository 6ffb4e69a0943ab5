package io.penstock.lab.bench.side;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.Folders;
import io.penstock.node.cli.TemporaryFolder;
import io.penstock.node.option.SizeOption;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// `penstock bench far-side`: the far side of `bench wire` and `bench latency`, for another machine.
@Command(
    name = FarSideCommand.NAME,
    description = {"Serves as the far side of bench wire, latency and transfer, for a near side on another machine.",
      "",
      "Prints its port as JSON and runs until it is stopped. Any program that reaches the port can have it use"
          + " memory: use it in a trusted network only. Each measurement listens at another free port.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock bench far-side --host 10.0.0.7 --port 7790", ""})
public final class FarSideCommand implements Callable<Integer> {
  static final String NAME = "far-side";
  static final String UNTIL_INPUT_ENDS = "--until-input-ends";

  private final Console console;

  @Option(names = "--host", paramLabel = "HOST",
      description = "Address to listen at (default: ${DEFAULT-VALUE}).", defaultValue = "127.0.0.1")
  private String host = "";

  @Option(names = "--port", paramLabel = "PORT",
      description = "Port to listen at; 0 for a free one (default: ${DEFAULT-VALUE}).", defaultValue = "0")
  private int port;

  @Option(names = "--source", paramLabel = "SIZE", converter = SizeOption.class,
      description = "Memory that raw bytes are sent from (default: ${DEFAULT-VALUE}).", defaultValue = "256MiB")
  private long source;

  /// Folder of the process that started this one, and ends its input.
  @Option(names = UNTIL_INPUT_ENDS, paramLabel = "FOLDER", hidden = true)
  private @Nullable Path parents;

  FarSideCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws IOException {
    if (parents != null) {
      try (FarSide side = side(parents)) {
        tell(side);
        console.in().transferTo(OutputStream.nullOutputStream());
      }
      Folders.delete(parents); // the parent may have been killed
      return ExitCode.OK;
    }
    try (TemporaryFolder folder = TemporaryFolder.create("penstock-bench-"); FarSide side = side(folder.path())) {
      tell(side);
      new CountDownLatch(1).await();
      return ExitCode.OK;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return ExitCode.OK;
    }
  }

  private FarSide side(Path folder) {
    return new FarSide(new BenchTransport.Place(host, folder), port, source);
  }

  private void tell(FarSide side) {
    console.json(new FarLink.Ready(side.port()));
  }
}
