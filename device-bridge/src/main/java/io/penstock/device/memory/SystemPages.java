package io.penstock.device.memory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/// What Linux says about its pages and nodes, read anew each time. What it does not say is taken for no.
final class SystemPages {
  private final Path folder;

  /// @param folder `/sys`, or what stands for it
  SystemPages(Path folder) {
    this.folder = folder;
  }

  /// Pages of `pageBytes` that a new mapping may have: set aside, and not promised to another, or to be made on demand.
  long free(long pageBytes) {
    Path pages = folder.resolve("kernel/mm/hugepages/hugepages-" + (pageBytes >> 10) + "kB");
    long unpromised = Math.max(0, number(pages.resolve("free_hugepages")) - number(pages.resolve("resv_hugepages")));
    return unpromised
        + Math.max(0, number(pages.resolve("nr_overcommit_hugepages")) - number(pages.resolve("surplus_hugepages")));
  }

  /// Whether the system makes large pages where it is asked to.
  boolean takesAdvice() {
    String enabled = text(folder.resolve("kernel/mm/transparent_hugepage/enabled"));
    return enabled.contains("[madvise]") || enabled.contains("[always]");
  }

  boolean hasNode(int node) {
    return nodes().contains(node);
  }

  List<Integer> nodes() {
    try (Stream<Path> files = Files.list(folder.resolve("devices/system/node"))) {
      return files.map(file -> file.getFileName().toString()).filter(name -> name.matches("node\\d{1,4}"))
          .map(name -> Integer.valueOf(name.substring(4))).sorted().toList();
    } catch (IOException e) {
      return List.of();
    }
  }

  private static long number(Path file) {
    String text = text(file);
    return text.isEmpty() ? 0 : Long.parseLong(text);
  }

  private static String text(Path file) {
    try {
      return Files.readString(file).strip();
    } catch (IOException e) {
      return "";
    }
  }
}
