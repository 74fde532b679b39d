//===- LaunchEnvironmentTest.cpp - the variables of launchers -------------===//

#include "tools/tessera/options/LaunchEnvironment.h"

#include <gtest/gtest.h>
#include <map>
#include <vector>

using namespace tessera;

namespace {

using Variables = std::map<std::string, std::string>;

std::string read(const Variables &variables, Launch &launch) {
  return readLaunch(
      [&](const char *name) {
        auto it = variables.find(name);
        return it == variables.end() ? nullptr : it->second.c_str();
      },
      launch);
}

Launch launchOf(const Variables &variables) {
  Launch launch;
  EXPECT_EQ(read(variables, launch), "");
  return launch;
}

std::string problemOf(const Variables &variables) {
  Launch launch;
  std::string why = read(variables, launch);
  EXPECT_TRUE(launch.isAlone()) << "an error changes nothing";
  return why;
}

Variables operator+(Variables all, const Variables &more) {
  all.insert(more.begin(), more.end());
  return all;
}

Variables torchrun(int rank, int size, int localSize) {
  return {{"RANK", std::to_string(rank)},
          {"WORLD_SIZE", std::to_string(size)},
          {"LOCAL_RANK", std::to_string(rank % localSize)},
          {"LOCAL_WORLD_SIZE", std::to_string(localSize)},
          {"MASTER_ADDR", "node3"},
          {"MASTER_PORT", "12345"}};
}

Variables openMpi(int rank, int size, int localSize) {
  return {{"OMPI_COMM_WORLD_RANK", std::to_string(rank)},
          {"OMPI_COMM_WORLD_SIZE", std::to_string(size)},
          {"OMPI_COMM_WORLD_LOCAL_RANK", std::to_string(rank % localSize)},
          {"OMPI_COMM_WORLD_LOCAL_SIZE", std::to_string(localSize)},
          {"PMIX_RANK", std::to_string(rank)}};
}

/// Returns the variable by which a rank of Open MPI finds its server.
Variables serverOf(const char *name) {
  return {{"PMIX_SERVER_URI4", std::string(name) + ";tcp4://127.0.0.1:48037"}};
}

Variables mpich(int rank, int size, int localSize) {
  return {{"PMI_RANK", std::to_string(rank)},
          {"PMI_SIZE", std::to_string(size)},
          {"MPI_LOCALRANKID", std::to_string(rank % localSize)},
          {"MPI_LOCALNRANKS", std::to_string(localSize)}};
}

/// Returns the variables of a task of a step, one of `perNode` on its host.
Variables slurmStep(int rank, int size, int perNode) {
  return {{"SLURM_PROCID", std::to_string(rank)},
          {"SLURM_NTASKS", std::to_string(size)},
          {"SLURM_STEP_NUM_TASKS", std::to_string(size)},
          {"SLURM_STEP_NUM_NODES", std::to_string(size / perNode)},
          {"SLURM_STEP_NODELIST", "b[2-9]"},
          {"SLURM_LOCALID", std::to_string(rank % perNode)},
          {"SLURM_JOB_ID", "100123"},
          {"SLURM_JOB_NODELIST", "a1,b[2-9]"}};
}

/// Returns the variables of the script of a batch job.
Variables slurmBatch(int tasks) {
  return {{"SLURM_PROCID", "0"},
          {"SLURM_NTASKS", std::to_string(tasks)},
          {"SLURM_LOCALID", "0"},
          {"SLURM_JOB_ID", "100123"},
          {"SLURM_JOB_NODELIST", "node[07-10]"},
          {"ENVIRONMENT", "BATCH"}};
}

TEST(LaunchEnvironment, NothingIsOneProcess) {
  EXPECT_TRUE(launchOf({}).isAlone());
  EXPECT_TRUE(launchOf({{"WORLD_SIZE", "1"}}).isAlone());
  EXPECT_TRUE(launchOf({{"WORLD_SIZE", "1"}, {"RANK", "0"}}).isAlone());
}

TEST(LaunchEnvironment, TorchrunsPortIsItsOwn) {
  Launch launch = launchOf({{"RANK", "5"},
                            {"WORLD_SIZE", "16"},
                            {"LOCAL_RANK", "1"},
                            {"LOCAL_WORLD_SIZE", "4"},
                            {"MASTER_ADDR", "node3"},
                            {"MASTER_PORT", "12345"}});
  EXPECT_EQ(launch.rank, 5);
  EXPECT_EQ(launch.worldSize, 16);
  EXPECT_EQ(launch.localRank, 1);
  EXPECT_EQ(launch.localSize, 4);
  EXPECT_EQ(launch.rendezvous, "node3:12346");
}

TEST(LaunchEnvironment, ByHandTwoVariablesAreEnough) {
  Launch launch = launchOf({{"RANK", "1"}, {"WORLD_SIZE", "2"}});
  EXPECT_EQ(launch.rendezvous, "127.0.0.1:29501");
  EXPECT_EQ(launch.localSize, 0);
}

TEST(LaunchEnvironment, SlurmsFirstHostIsTheMaster) {
  Launch launch = launchOf({{"SLURM_PROCID", "9"},
                            {"SLURM_NTASKS", "16"},
                            {"SLURM_LOCALID", "1"},
                            {"SLURM_JOB_ID", "100123"},
                            {"SLURM_JOB_NODELIST", "node[07-10]"}});
  EXPECT_EQ(launch.rank, 9);
  EXPECT_EQ(launch.worldSize, 16);
  EXPECT_EQ(launch.rendezvous, "node07:21124");
}

TEST(LaunchEnvironment, SlurmsStepIsSmallerThanItsJob) {
  Launch launch = launchOf({{"SLURM_PROCID", "0"},
                            {"SLURM_NTASKS", "16"},
                            {"SLURM_STEP_NUM_TASKS", "2"},
                            {"SLURM_STEP_NODELIST", "b2"},
                            {"SLURM_JOB_NODELIST", "a1,b2"},
                            {"MASTER_PORT", "5000"}});
  EXPECT_EQ(launch.worldSize, 2);
  EXPECT_EQ(launch.rendezvous, "b2:5001");
}

TEST(LaunchEnvironment, OpenMpiOnOneHost) {
  Launch launch =
      launchOf(openMpi(1, 2, 2) + Variables{{"PMIX_NAMESPACE", "3735552001"}});
  EXPECT_EQ(launch.rank, 1);
  EXPECT_EQ(launch.worldSize, 2);
  EXPECT_EQ(launch.localRank, 1);
  EXPECT_EQ(launch.localSize, 2);
  EXPECT_EQ(launch.launcher, "mpirun");
  EXPECT_EQ(launch.sizeName, "OMPI_COMM_WORLD_SIZE");
  EXPECT_EQ(launch.rendezvous.rfind("127.0.0.1:2", 0), 0u) << launch.rendezvous;
  // Another job of the machine meets elsewhere, the same one in one place.
  EXPECT_EQ(
      launch.rendezvous,
      launchOf(openMpi(0, 2, 2) + Variables{{"PMIX_NAMESPACE", "3735552001"}})
          .rendezvous);
  EXPECT_NE(
      launch.rendezvous,
      launchOf(openMpi(0, 2, 2) + Variables{{"PMIX_NAMESPACE", "3735617537"}})
          .rendezvous);
}

TEST(LaunchEnvironment, MpichOnOneHost) {
  Launch launch = launchOf(mpich(2, 3, 3));
  EXPECT_EQ(launch.rank, 2);
  EXPECT_EQ(launch.worldSize, 3);
  EXPECT_EQ(launch.localRank, 2);
  EXPECT_EQ(launch.localSize, 3);
  EXPECT_EQ(launch.sizeName, "PMI_SIZE");
  EXPECT_EQ(launch.rendezvous, "127.0.0.1:29501");
  EXPECT_TRUE(launchOf(mpich(0, 1, 1)).isAlone());
}

TEST(LaunchEnvironment, MpiOnSeveralHostsNeedsAnAddress) {
  EXPECT_EQ(launchOf(openMpi(3, 4, 2)).rendezvous, "");
  EXPECT_EQ(launchOf(mpich(3, 4, 2)).rendezvous, "");
  EXPECT_EQ(launchOf({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}).rendezvous, "");
  EXPECT_EQ(launchOf(mpich(3, 4, 2) +
                     Variables{{"MASTER_ADDR", "h"}, {"MASTER_PORT", "7"}})
                .rendezvous,
            "h:8");
}

TEST(LaunchEnvironment, MpirunInsideABatchJobCounts) {
  for (const Variables &mpi : {openMpi(5, 8, 4), mpich(5, 8, 4)}) {
    // Its own host has the variables of the script, the others those of the
    // daemons, one on each host.
    for (const Variables &slurm : {slurmBatch(16), slurmStep(1, 2, 1)}) {
      Launch launch = launchOf(mpi + slurm);
      EXPECT_EQ(launch.rank, 5);
      EXPECT_EQ(launch.worldSize, 8);
      EXPECT_EQ(launch.localSize, 4);
    }
  }
  // All ranks on one of the two hosts that have daemons.
  EXPECT_EQ(
      launchOf(openMpi(1, 2, 2) + slurmStep(0, 2, 1) + serverOf("7.1")).rank,
      1);
  EXPECT_EQ(launchOf(openMpi(0, 8, 4) + slurmBatch(8)).rendezvous,
            "node07:21124");
  // The step of the daemons may leave out the first host.
  EXPECT_EQ(launchOf(openMpi(5, 8, 4) + slurmStep(1, 2, 1)).rendezvous,
            "a1:21124");
}

TEST(LaunchEnvironment, BatchScriptIsOneProcess) {
  EXPECT_TRUE(launchOf(slurmBatch(16)).isAlone());
}

TEST(LaunchEnvironment, SrunsOwnPmiSaysTheSame) {
  Launch launch = launchOf(slurmStep(3, 4, 2) +
                           Variables{{"PMI_RANK", "3"}, {"PMI_SIZE", "4"}});
  EXPECT_EQ(launch.rank, 3);
  EXPECT_EQ(launch.launcher, "srun");
  EXPECT_EQ(launch.rendezvous, "b2:21124");
}

TEST(LaunchEnvironment, TorchrunInsideOthersCounts) {
  // Slurm or mpirun start torchrun once on each of two hosts.
  for (const Variables &outer :
       {slurmStep(1, 2, 1), openMpi(1, 2, 1), mpich(1, 2, 1)}) {
    Launch launch = launchOf(torchrun(5, 8, 4) + outer +
                             Variables{{"GROUP_WORLD_SIZE", "2"}});
    EXPECT_EQ(launch.rank, 5);
    EXPECT_EQ(launch.worldSize, 8);
    EXPECT_EQ(launch.launcher, "torchrun");
    EXPECT_EQ(launchOf(torchrun(5, 8, 4) + outer).rank, 5) << "by LOCAL_*";
  }
  // Other launchers than torchrun set no more than the ranks.
  const Variables byHand = {{"RANK", "5"}, {"WORLD_SIZE", "8"}};
  for (const Variables &outer :
       {slurmStep(1, 2, 1), openMpi(1, 2, 1), mpich(1, 2, 1)})
    EXPECT_EQ(launchOf(byHand + outer).rank, 5);
  // A script may hand on what another launcher says.
  EXPECT_EQ(launchOf(torchrun(1, 2, 2) + openMpi(1, 2, 2)).rank, 1);
  EXPECT_EQ(launchOf(torchrun(1, 2, 2) + slurmBatch(8)).rank, 1);
}

TEST(LaunchEnvironment, LaunchersThatContradictEachOther) {
  EXPECT_EQ(problemOf(Variables{{"RANK", "0"}, {"WORLD_SIZE", "1"}} +
                      openMpi(1, 2, 2)),
            "RANK is 0 of WORLD_SIZE 1, but OMPI_COMM_WORLD_RANK is 1 of "
            "OMPI_COMM_WORLD_SIZE 2: each process would belong to two runs; "
            "start the processes with either torchrun or mpirun, and unset the "
            "variables of the other");
  EXPECT_EQ(problemOf(openMpi(0, 2, 2) + mpich(0, 4, 4)),
            "OMPI_COMM_WORLD_RANK is 0 of OMPI_COMM_WORLD_SIZE 2, but PMI_RANK "
            "is 0 of PMI_SIZE 4: each process would belong to two runs; start "
            "the processes with one mpirun, and unset the variables of the "
            "other");
  for (const Variables &wrong : {
           Variables{{"WORLD_SIZE", "1"}} + mpich(0, 2, 2),
           torchrun(0, 2, 2) + openMpi(1, 2, 2), // another rank
           torchrun(3, 4, 4) + slurmStep(0, 2, 1) +
               Variables{{"GROUP_WORLD_SIZE", "1"}}, // two runs of torchrun
           Variables{{"RANK", "1"}, {"WORLD_SIZE", "2"}} + slurmStep(0, 2, 1),
           Variables{{"RANK", "5"}, {"WORLD_SIZE", "8"}} + slurmStep(1, 2, 2),
           Variables{{"RANK", "2"}, {"WORLD_SIZE", "3"}} + openMpi(0, 2, 1),
           openMpi(0, 1, 1) + slurmStep(1, 2, 1), // srun -n 2 mpirun -n 1
           openMpi(0, 2, 2) + slurmStep(1, 4, 4), // srun -n 4 mpirun -n 2
           mpich(0, 2, 2) + slurmStep(1, 4, 2),
           // srun -N 2 -n 2 mpirun -n 2: the server of the ranks is mpirun,
           // even if rank and size are those of the task.
           openMpi(1, 2, 2) + slurmStep(0, 2, 1) + serverOf("7.0"),
           openMpi(0, 2, 2) + slurmStep(0, 2, 1) + serverOf("prterun-a1@0.0"),
           mpich(1, 2, 2) + slurmStep(0, 2, 1),
           mpich(1, 2, 2) + slurmStep(1, 2, 1),
           // mpirun of one MPI that starts another's
           openMpi(1, 2, 2) + mpich(1, 2, 2),
       })
    EXPECT_NE(problemOf(wrong).find("would belong to two runs"),
              std::string::npos)
        << problemOf(wrong);
}

TEST(LaunchEnvironment, WrongNumbersAreNamed) {
  const std::vector<std::pair<Variables, const char *>> cases = {
      {{{"RANK", "x"}, {"WORLD_SIZE", "2"}},
       "RANK is 'x', expected a whole number; the launcher sets it"},
      {{{"RANK", "0"}, {"WORLD_SIZE", "4294967298"}},
       "WORLD_SIZE is '4294967298', expected a whole number; the launcher sets "
       "it"},
      {{{"PMI_RANK", "-1"}, {"PMI_SIZE", "2"}},
       "PMI_RANK is '-1', expected a whole number; the launcher sets it"},
      {{{"RANK", "2"}, {"WORLD_SIZE", "2"}},
       "RANK is 2, but there are 2 processes; ranks are numbered from 0 to "
       "WORLD_SIZE - 1"},
      {{{"RANK", "3"}, {"WORLD_SIZE", "1"}},
       "RANK is 3, but there is 1 process; ranks are numbered from 0 to "
       "WORLD_SIZE - 1"},
      {{{"RANK", "0"}, {"WORLD_SIZE", "0"}},
       "WORLD_SIZE is 0, but there is at least this process; the launcher sets "
       "it"},
      {{{"RANK", "0"}},
       "RANK is set, but WORLD_SIZE is not; set both, as "
       "launchers do, or neither"},
      {{{"RANK", ""}, {"WORLD_SIZE", "2"}},
       "WORLD_SIZE is set, but RANK is not; set both, as launchers do, or "
       "neither"},
      {{{"OMPI_COMM_WORLD_SIZE", "2"}},
       "OMPI_COMM_WORLD_SIZE is set, but OMPI_COMM_WORLD_RANK is not; set "
       "both, "
       "as launchers do, or neither"},
      {{{"RANK", "0"},
        {"WORLD_SIZE", "4"},
        {"LOCAL_RANK", "2"},
        {"LOCAL_WORLD_SIZE", "2"}},
       "LOCAL_RANK is 2, but LOCAL_WORLD_SIZE is 2; ranks of a host are "
       "numbered from 0 to LOCAL_WORLD_SIZE - 1"},
      {{{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"MPI_LOCALNRANKS", "3"}},
       "MPI_LOCALNRANKS is 3, but PMI_SIZE is 2; this host cannot have more "
       "processes than all together"},
      {{{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_PORT", "65535"}},
       "MASTER_PORT is 65535, expected 1 to 65534, as the rendezvous is one "
       "port above"},
      {{{"PMI_ID", "1"}, {"PMI_PORT", "vm:39663"}},
       "PMI_ID is 1, but no variable tells how many processes there are; set "
       "RANK and WORLD_SIZE, or start with torchrun, mpirun or srun"},
      {{{"PMIX_RANK", "2"}},
       "PMIX_RANK is 2, but no variable tells how many processes there are; "
       "set RANK and WORLD_SIZE, or start with torchrun, mpirun or srun"},
  };
  for (const auto &[variables, problem] : cases)
    EXPECT_EQ(problemOf(variables), problem);
}

TEST(LaunchEnvironment, FirstHost) {
  EXPECT_EQ(firstHost("login1"), "login1");
  EXPECT_EQ(firstHost("a1,b2"), "a1");
  EXPECT_EQ(firstHost("node[07-09,12],login1"), "node07");
  EXPECT_EQ(firstHost("node[3,5]"), "node3");
  EXPECT_EQ(firstHost("node[4]"), "node4");
  EXPECT_EQ(firstHost(""), "");
}

} // namespace
