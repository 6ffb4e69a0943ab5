package io.penstock.device.sidecar.server;

import io.penstock.KvException;
import io.penstock.device.sidecar.RegionSource.MappedFile;
import io.penstock.device.sidecar.RegionSource.Memfd;
import io.penstock.device.sidecar.RegionSpec;
import io.penstock.device.sidecar.SideCarCode;
import io.penstock.device.sidecar.SideCarFailure;
import io.penstock.device.sidecar.server.RegionOpener.RegionOwner;
import io.penstock.system.NativeFile;
import io.penstock.system.NativeMemory;
import io.penstock.system.SystemCallException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;

/// Host memory of other processes of the same user.
///
/// A page of a file that was cut short ends the process that touches it, so only what cannot be cut short is mapped:
/// memfds with the seal for that. All pages are there before it counts as mapped. Files are read and written by calls,
/// which fail instead.
final class HostRegions {
  private HostRegions() {}

  /// Opens a memfd of `owner`. May take as long as the system needs to find memory for its pages.
  ///
  /// @throws IOException if the system refuses
  static RegionWindow memfd(RegionSpec region, Memfd source, RegionOwner owner) throws IOException {
    Path process = Path.of("/proc/" + owner.process());
    Path there = process.resolve("fd/" + source.descriptor());
    if (!Files.exists(process) || !Files.getOwner(process).equals(owner.user())) {
      throw refused(SideCarCode.FORBIDDEN, region, "process " + owner.process());
    }
    requireOwn(region, there, owner, true);
    NativeFile file = NativeFile.open(there);
    try {
      requireOwn(region, file.shown(), owner, true); // the opened file, which may differ from the one checked before
      if (!Files.readSymbolicLink(file.shown()).toString().startsWith("/memfd:")) {
        throw refused(SideCarCode.FORBIDDEN, region, "descriptor " + source.descriptor() + " is no memfd");
      }
      requireLength(region, file);
      if (!file.mayNotShrink()) {
        throw refused(SideCarCode.UNSEALED, region, "no seal");
      }
      return mapped(region, file);
    } finally {
      file.close();
    }
  }

  private static RegionWindow mapped(RegionSpec region, NativeFile file) throws IOException {
    Arena arena = Arena.ofShared();
    try {
      // Huge pages are unmapped as a whole, or not at all
      MemorySegment memory = file.map(file.bytes(), arena).asSlice(0, region.bytes());
      populate(memory);
      return new RegionWindow.Mapped(memory, arena::close);
    } catch (IOException | RuntimeException e) {
      arena.close();
      throw e;
    }
  }

  /// Makes all pages of a mapping now, so that a copy never touches a missing one.
  private static void populate(MemorySegment mapped) throws SystemCallException {
    try {
      NativeMemory.ofSystem().advise(mapped.address(), mapped.byteSize(), NativeMemory.Advice.POPULATE_WRITE);
    } catch (SystemCallException e) {
      if (e.errno() != SystemCallException.EINVAL) { // Linux before 5.14 does not know how
        throw e;
      }
    }
  }

  /// Opens a file of `owner`.
  static RegionWindow file(RegionSpec region, MappedFile source, RegionOwner owner) throws IOException {
    requireOwn(region, source.path(), owner, false);
    NativeFile file = NativeFile.openNoLink(source.path());
    try {
      requireOwn(region, file.shown(), owner, true);
      requireLength(region, file);
      return new OpenFile(file);
    } catch (IOException | RuntimeException e) {
      file.close();
      throw e;
    }
  }

  private static void requireOwn(RegionSpec region, Path path, RegionOwner owner, boolean follow) throws IOException {
    PosixFileAttributes found = Files.readAttributes(path, PosixFileAttributes.class,
        follow ? new LinkOption[0] : new LinkOption[] {LinkOption.NOFOLLOW_LINKS});
    if (!found.isRegularFile() || !found.owner().equals(owner.user())) {
      throw refused(SideCarCode.FORBIDDEN, region,
          found.isRegularFile() ? "a file of " + found.owner().getName() : "no regular file");
    }
  }

  private static void requireLength(RegionSpec region, NativeFile file) throws IOException {
    long bytes = file.bytes();
    if (bytes < region.bytes()) {
      throw refused(SideCarCode.MISMATCH, region, region.bytes() + " bytes of a file of " + bytes);
    }
  }

  private static KvException refused(SideCarCode code, RegionSpec region, String found) {
    return SideCarFailure.of(code, region.id(), found);
  }

  /// A file by its calls.
  private record OpenFile(NativeFile file) implements RegionWindow.InFile {
    @Override
    public void read(long offset, MemorySegment into) throws IOException {
      file.read(offset, into);
    }

    /// Never makes the file longer, unless it is cut short at this very moment.
    @Override
    public void write(long offset, MemorySegment from) throws IOException {
      long bytes = file.bytes();
      if (bytes < offset + from.byteSize()) {
        throw new IOException(
            "file must have " + (offset + from.byteSize()) + " bytes (was " + bytes + ": it was cut short)");
      }
      file.write(offset, from);
    }

    @Override
    public void close() {
      file.close();
    }
  }
}
