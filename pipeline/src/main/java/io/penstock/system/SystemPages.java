package io.penstock.system;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/// Huge pages and NUMA nodes of this machine, as Linux reports them. Each call reads them again; a missing answer
/// counts as none.
public final class SystemPages {
  private final Path folder;

  /// @param folder `/sys`, or a stand-in
  public SystemPages(Path folder) {
    this.folder = folder;
  }

  public static SystemPages ofSystem() {
    return new SystemPages(Path.of("/sys"));
  }

  /// Pages of `pageBytes` that a new mapping may have: set aside and not promised elsewhere, or made on demand.
  public long free(long pageBytes) {
    Path pages = folder.resolve("kernel/mm/hugepages/hugepages-" + (pageBytes >> 10) + "kB");
    long unpromised = Math.max(0, number(pages.resolve("free_hugepages")) - number(pages.resolve("resv_hugepages")));
    return unpromised
        + Math.max(0, number(pages.resolve("nr_overcommit_hugepages")) - number(pages.resolve("surplus_hugepages")));
  }

  /// Whether the system makes large pages on [NativeMemory.Advice#LARGE_PAGES].
  public boolean takesAdvice() {
    String enabled = text(folder.resolve("kernel/mm/transparent_hugepage/enabled"));
    return enabled.contains("[madvise]") || enabled.contains("[always]");
  }

  public boolean hasNode(int node) {
    return nodes().contains(node);
  }

  /// Numbers of the NUMA nodes, ascending.
  public List<Integer> nodes() {
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
